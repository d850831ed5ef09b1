import type { components } from './schema'

/** The objects of the API by their names: `Model<'Node'>`. */
export type Model<Name extends keyof components['schemas']> = components['schemas'][Name]
export type Permission = Model<'Permission'>

/** A page of a list; nextCursor is null on the last one. */
export interface Page<T> {
  items: T[]
  nextCursor: string | null
  /** How far back a page that is short, but not the last, was searched. */
  searchedUntil?: string
}
