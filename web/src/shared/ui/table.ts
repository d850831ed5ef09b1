/** A column of a DataTable; its cells come in the slot of its name, or else as the field of that name. */
export interface Column {
  name: string
  /** The head; a column of buttons has none to see. */
  title: string
  align?: 'left' | 'right'
  /** A width of CSS, for columns that should not grow. */
  width?: string
  /** Left out on a phone. */
  wide?: boolean
  /** Read by readers of screens alone. */
  unseen?: boolean
}

/** The part of a query of vue-query that a DataTable shows. */
export interface TableQuery<T> {
  data: { items: T[]; nextCursor?: string | null; searchedUntil?: string } | undefined
  error: unknown
  isPending: boolean
  isFetching: boolean
  isPlaceholderData?: boolean
  refetch: () => unknown
}
