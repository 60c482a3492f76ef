export { openBrowser as launch, Panel, type State } from '../helpers/panel.ts';
