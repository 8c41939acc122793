import { describeGroup } from './describe-group.ts';
import { groups } from './faults.ts';

describeGroup('the API server, its store and the way to it fail', groups.apiServer);
