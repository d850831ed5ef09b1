import { kinds } from './settings/kinds'

/** The pages about alerts, in the order in which they stand beside each other. */
export const pages: readonly { route: string; title: string }[] = [
  { route: 'alerts', title: 'alerts.title' },
  ...kinds.map((kind) => ({ route: `alert-${kind}`, title: `alerts.kinds.${kind}` })),
]
