import type { components, paths } from './schema'

/** The objects of the API by their names: `Model<'Node'>`. */
export type Model<Name extends keyof components['schemas']> = components['schemas'][Name]
/** The parameters of a read in its address: `Query<'/api/v1/jobs'>`. */
export type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Q } } } ? NonNullable<Q> : never
export type Permission = Model<'Permission'>
