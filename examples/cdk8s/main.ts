// cdk8s writes the operator and the namespace "shop" into a file each. External Secrets Operator brings the token.
import { App, Chart } from 'cdk8s';
import { Operator, parseSettings, TracedNamespace } from 'lumigo-kubernetes-operator';

const app = new App();
const operator = new Operator(app, 'lumigo-operator', {
  settings: parseSettings({ cluster: { name: 'production' } }),
});

const shop = new Chart(app, 'shop');
shop.addDependency(operator);
new TracedNamespace(shop, 'traced', {
  namespace: 'shop',
  externalToken: { store: { name: 'vault', kind: 'ClusterSecretStore' }, remoteRef: { key: 'shop/lumigo' } },
});

app.synth();
