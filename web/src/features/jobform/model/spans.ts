export const units = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const
export type Unit = keyof typeof units

/** The greatest unit that shows a span without a fraction. */
export function bestUnit(ms: number, offered: readonly Unit[]): Unit {
  const fits = offered.filter((u) => ms % units[u] === 0)
  if (ms === 0) return offered.includes('s') ? 's' : (offered[0] ?? 's')
  return fits[fits.length - 1] ?? offered[0] ?? 'ms'
}
