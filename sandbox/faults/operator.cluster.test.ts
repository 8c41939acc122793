import { describeGroup } from './describe-group.ts';
import { groups } from './scenarios/scenarios.ts';

describeGroup('the operator itself is changed, killed and stopped', groups.operator);
