import { describe, expect, it } from 'vitest'
import { filled, offered, type Sample } from './placeholders'

const sample: Sample = {
  time: '2026-03-31T18:00:00.000Z', zone: 'Asia/Shanghai', jobName: 'export', group: '', owner: 'ann', shardTotal: 3, params: { day: 'today', empty: '' },
}

describe('a text with placeholders', () => {
  it.each([
    ['${scheduledTime}', '2026-03-31T18:00:00.000Z'],
    ['${scheduledTime:yyyy-MM-dd}', '2026-04-01'],
    ['${scheduledTime-1d:yyyyMMdd}', '20260331'],
    ["${scheduledTime:yyyy'T'HH:mm:ssXXX}", '2026T02:00:00+08:00'],
    ['${scheduledTime-1M:yyyy-MM-dd}', '2026-03-01'],
    ['${scheduledTime-1d-1M:yyyy-MM-dd}', '2026-02-28'],
    ['${scheduledTime:DDD}', '091'],
    ['${scheduledTime:epochSec}', '1774980000'],
    ['${params.day}/${params.other:-x}/${params.none}', 'today/x/‹none›'],
    ['${params.empty:-y}', 'y'],
    ['Bearer ${secret.KEY}', 'Bearer •••'],
    ['${jobName} ${group} ${owner} ${attempt} ${shardIndex}/${shardTotal}', 'export default ann 1 0/3'],
    ['$${no} ${unknown} ${scheduledTime+oops}', '${no} ${unknown} ${scheduledTime+oops}'],
  ])('%s becomes %s', (text, out) => expect(filled(text, sample)).toBe(out))
})

it('offers the declared parameters and the secrets', () => {
  expect(offered(['day', ''], ['KEY']).map((o) => o.text)).toEqual(expect.arrayContaining(['${params.day}', '${secret.KEY}', '${scheduledTime}']))
  expect(offered(['day', ''], []).filter((o) => o.name === 'param')).toHaveLength(1)
})
