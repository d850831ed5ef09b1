interface Page {
  items: unknown[]
  nextCursor: string | null
}

/**
 * Asks for the page after an empty one, and so on, until something was found or nothing is left. `goesOn` is told of
 * each empty page that is not the last, and ends the search with it by false.
 */
export async function untilFound<P extends Page>(load: (cursor: string) => Promise<P>, start = '', goesOn: (page: P) => boolean = () => true): Promise<P> {
  for (let cursor = start; ;) {
    const page = await load(cursor)
    if (page.items.length > 0 || page.nextCursor === null || !goesOn(page)) return page
    cursor = page.nextCursor
  }
}
