/** How well a text holds what somebody typed: 0 is not at all. Its letters come in order; together and early is better. */
export function match(text: string, typed: string): number {
  const [inside, wanted] = [text.toLowerCase(), typed.trim().toLowerCase()]
  if (wanted === '') return 1
  const at = inside.indexOf(wanted)
  if (at >= 0) return at === 0 ? 4 : inside[at - 1] === ' ' ? 3 : 2
  let from = 0
  for (const letter of wanted) {
    from = inside.indexOf(letter, from) + 1
    if (from === 0) return 0
  }
  return 1
}
