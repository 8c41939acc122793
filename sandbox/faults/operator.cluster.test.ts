import { describeGroup } from './describe-group.ts';
import { groups } from './faults.ts';

describeGroup('a fault of the operator itself', groups.operator);
