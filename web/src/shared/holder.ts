import type { RouteLocationRaw } from 'vue-router'

/** The page of who runs something: a node, or a worker, whose id begins with a mark that no node has. */
export function holderPage(id: string): RouteLocationRaw {
  return { name: id.startsWith('@') ? 'worker' : 'node', params: { id } }
}
