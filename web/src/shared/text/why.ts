import { hasText, i18n, t } from '.'
import { duration } from './format'
import { absolute } from '@/shared/time/format'
import type { Model } from '@/shared/api/types'

type Explanation = Model<'Explanation'>

type Params = Record<string, unknown>

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** A parameter in the reader's words; undefined where it is missing. */
function shown(name: string, value: unknown, zone: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'number') return name.endsWith('Ms') ? duration(value) : String(value)
  const text = String(value)
  if (name.startsWith('cron')) return text.split(', ').map((part) => part.split(/(?<=[A-Z0-9])-(?=[A-Z0-9])/).map(word).join(t('jobs.why.cron.to'))).join(', ')
  // An edge may ask for several ends.
  if (name === 'on') return text.split(' or ').map((end) => (hasText(`shared.workflow.on.${end}`) ? t(`shared.workflow.on.${end}`) : end)).join(t('shared.workflow.or'))
  const dictionary = { reason: 'jobs.why.reason', waitsFor: 'jobs.why.waits', status: 'shared.status', outcome: 'shared.status', level: 'shared.status', class: 'shared.workflow.on' }[name]
  if (dictionary && hasText(`${dictionary}.${text}`)) return t(`${dictionary}.${text}`)
  return moment.test(text) && !Number.isNaN(Date.parse(text)) ? absolute(text, zone) : text
}

/** A field of a cron expression, a month or a weekday in the reader's words; a number as it is. */
function word(name: string): string {
  return hasText(`jobs.why.cron.${name}`) ? t(`jobs.why.cron.${name}`) : name
}

/** Fills a sentence. A part in brackets is left out where a parameter in it is missing; of (one|many) behind a number the first is said of 1. */
export function fill(sentence: string, params: Params, zone: string): string {
  const put = (part: string, missing: string): string | undefined => {
    let whole = true
    const out = part.replace(/\{(\w+)\}(?: \(([^()|]*)\|([^()|]*)\))?/g, (_, name: string, one?: string, many?: string) => {
      const value = shown(name, params[name], zone)
      if (value === undefined) whole = false
      return (value ?? missing) + (many === undefined ? '' : ` ${value === '1' ? one : many}`)
    })
    return whole ? out : missing === '' ? undefined : out
  }
  // The values come last, so that brackets in them stay what they are.
  return sentence.split(/(\[[^\]]*\])/).map((part) => (part.startsWith('[') ? put(part.slice(1, -1), '') ?? '' : put(part, '–') ?? '')).join('')
}

/** The key of the sentence of a verdict and a code; undefined for one of a newer server. */
export function keyOf(verdict: string, code: string, params: Params = {}): string | undefined {
  const name = verdict === 'SKIPPED' && params['rangeEnd'] ? 'RANGE' : code
  return [`jobs.why.${verdict}.${name}`, `jobs.why.${verdict}.other`].find(hasText)
}

function raw(key: string): string {
  return String(i18n.global.tm(key))
}

/** The answer in a sentence of the reader's language; the server's own where there is none. */
export function sentenceOf(why: Pick<Explanation, 'verdict' | 'code' | 'params' | 'explanation'>, zone: string): string {
  const key = keyOf(why.verdict, why.code, why.params)
  return key ? fill(raw(key), why.params, zone) : why.explanation
}

export function factOf(fact: Explanation['facts'][number], zone: string): string {
  const key = `jobs.why.fact.${fact.code}`
  return hasText(key) ? fill(raw(key), fact.params, zone) : fact.text
}

/** Where a fact leads: to the workers, the run, the node or the alert that it names. */
export function linkOf(fact: Explanation['facts'][number]): string | undefined {
  const { workers } = fact.params
  if (fact.code === 'WORKERS' && typeof workers === 'string') return `/workers?group=${encodeURIComponent(workers)}`
  if (fact.id === '') return undefined
  if (fact.code === 'ALERT') return `/alerts/${fact.id}`
  if (fact.code.startsWith('NODE_')) return `/nodes/${fact.id}`
  return `/executions/${fact.id}`
}
