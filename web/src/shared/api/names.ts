/**
 * The names of an object, in its order. A list of the values of a type of the API is `namesOf<Model<'Role'>>({ … })`:
 * the compiler refuses a value that is missing, and one that the server does not have.
 */
export function namesOf<T extends string>(all: Record<T, unknown>): T[] {
  return Object.keys(all) as T[]
}
