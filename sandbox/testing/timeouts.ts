import { jest } from '@jest/globals';

// Longer than the waits within a test together, on a busy machine too: a wait that fails says more than this limit.
jest.setTimeout(300_000);
