import { describeGroup } from './describe-group.ts';
import { groups } from './faults.ts';

describeGroup('others in the cluster are in the way', groups.neighbours);
