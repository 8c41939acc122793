import { jest } from '@jest/globals';

// A control plane takes seconds to start, and more on a busy machine.
jest.setTimeout(120_000);
