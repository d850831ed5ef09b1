import { expect, it } from 'vitest'
import { diff } from './diff'

it('tells what two logs share and what not', () => {
  const words = diff(['a', 'b', 'c'], ['a', 'x', 'c', 'd']).map((l) => `${l.kind} ${l.text}`)
  expect(words).toEqual(['same a', 'gone b', 'new x', 'same c', 'new d'])
})
