import { describeGroup } from './describe-group.ts';
import { groups } from './scenarios/scenarios.ts';

describeGroup('the API server, its store and the way to it fail', groups.apiServer);
