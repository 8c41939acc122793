import { describeGroup } from './describe-group.ts';
import { groups } from './faults.ts';

describeGroup('the operator itself is changed, killed and stopped', groups.operator);
