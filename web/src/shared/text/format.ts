import { languageNow, t } from '.'

const NONE = '–'

/** A number with separators; a dash for none. */
export function number(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined) return NONE
  return new Intl.NumberFormat(languageNow(), { maximumFractionDigits: digits }).format(value)
}

/** A share of 0–1 in per cent. */
export function percent(share: number | null | undefined, digits = 0): string {
  if (share === null || share === undefined) return NONE
  return new Intl.NumberFormat(languageNow(), { style: 'percent', maximumFractionDigits: digits }).format(share)
}

/** Bytes in units of 1024. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let rest = value
  let unit = 0
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024
    unit++
  }
  return `${number(rest, rest < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`
}

/** A length of time in milliseconds, in its two greatest units. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE
  const sign = ms < 0 ? '−' : ''
  const rest = Math.abs(ms)
  if (rest < 1_000) return `${sign}${number(rest)} ${t('shared.unit.ms')}`
  if (rest < 60_000) return `${sign}${number(rest / 1_000, rest < 10_000 ? 1 : 0)} ${t('shared.unit.s')}`
  const parts: [number, string][] = [
    [Math.floor(rest / 86_400_000), 'd'],
    [Math.floor(rest / 3_600_000) % 24, 'h'],
    [Math.floor(rest / 60_000) % 60, 'min'],
    [Math.floor(rest / 1_000) % 60, 's'],
  ]
  const first = parts.findIndex(([n]) => n > 0)
  return sign + parts.slice(first, first + 2).filter(([n]) => n > 0).map(([n, u]) => `${n} ${t(`shared.unit.${u}`)}`).join(' ')
}
