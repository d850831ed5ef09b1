import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { setLanguage } from '@/shared/text'
import { absolute, relative } from './format'
import TimeText from './TimeText.vue'
import { chosenZone } from './zone'

const noon = '2026-10-25T00:59:59Z'

describe('times', () => {
  it('are shown with the distance of their zone, also when clocks change', () => {
    expect(absolute(noon, 'UTC')).toBe('2026-10-25 00:59:59 UTC')
    expect(absolute(noon, 'Asia/Shanghai')).toBe('2026-10-25 08:59:59 UTC+8')
    expect(absolute(noon, 'Europe/Berlin')).toBe('2026-10-25 02:59:59 UTC+2')
    expect(absolute('2026-10-25T01:00:00Z', 'Europe/Berlin', 'minute')).toBe('2026-10-25 02:00 UTC+1')
    expect(absolute('2026-10-24T16:00:00Z', 'Asia/Shanghai', 'day')).toBe('2026-10-25')
  })

  it('say how far they are', async () => {
    const at = Date.parse(noon)
    expect(relative(noon, at)).toBe('now')
    expect(relative(noon, at + 59_999)).toBe('59 sec. ago')
    expect(relative(noon, at - 7_200_000)).toBe('in 2 hr.')
    await setLanguage('zh-CN')
    expect(relative(noon, at + 120_000)).toBe('2分钟前')
  })

  it('show the zone of the job beside mine', async () => {
    chosenZone.value = 'UTC'
    const shown = mount(TimeText, { props: { value: noon, form: 'both', jobZone: 'Asia/Tokyo' } })
    expect(shown.text()).toContain('2026-10-25 00:59:59 UTC')
    expect(shown.text()).toContain('2026-10-25 09:59:59 UTC+9 Asia/Tokyo')
    await shown.setProps({ value: null })
    expect(shown.text()).toBe('never')
  })
})
