import { mount } from '@vue/test-utils'
import ElementPlus from 'element-plus'
import { describe, expect, it } from 'vitest'
import type { Dialect } from '../model/cron'
import CronBuilder from './CronBuilder.vue'

function build(text: string, dialect: Dialect = 'QUARTZ') {
  const wrapper = mount(CronBuilder, {
    props: {
      modelValue: text, dialect, words: '',
      'onUpdate:modelValue': (v: string) => wrapper.setProps({ modelValue: v }),
      'onUpdate:dialect': (v: Dialect) => wrapper.setProps({ dialect: v }),
    },
    global: { plugins: [ElementPlus], stubs: { ElSelect: true, ElOption: true } }, attachTo: document.body,
  })
  const tab = async (name: string) => wrapper.findAll('[role=tab]').find((b) => b.text().startsWith(name))?.trigger('click')
  const mode = async (name: string) => wrapper.findAll('.modes .el-radio').find((r) => r.text() === name)?.find('input').setValue(true)
  return { wrapper, tab, mode, text: () => wrapper.props('modelValue') }
}

describe('the cron builder', () => {
  it('builds workdays by the weekday tab', async () => {
    const { tab, mode, text } = build('0 0 9 * * ?')
    await tab('Weekday')
    await mode('From – to')
    expect(text()).toBe('0 0 9 ? * 2-6')
  })

  it('takes and drops values of a list, and keeps the last one', async () => {
    const { wrapper, tab, mode, text } = build('0 9 * * *', 'UNIX')
    await tab('Hour')
    await mode('These')
    const button = (n: string) => wrapper.findAll('.values button').find((b) => b.text() === n)
    await button('18')?.trigger('click')
    expect(text()).toBe('0 9,18 * * *')
    await button('9')?.trigger('click')
    await button('18')?.trigger('click')
    expect(text()).toBe('0 18 * * *')
  })

  it('chooses the last day of the month in QUARTZ, which UNIX has not', async () => {
    const { wrapper, tab, mode, text } = build('0 0 18 * * ?')
    await tab('Day')
    await mode('Last day')
    expect(text()).toBe('0 0 18 L * ?')
    await wrapper.findAll('.line .el-radio-button input')[1]?.setValue(true)
    expect(wrapper.props('dialect')).toBe('UNIX')
    expect(text()).toBe('0 0 18 L * ?')
    expect(wrapper.text()).toContain('The other dialect cannot say this')
  })

  it('translates to the other dialect what both can say', async () => {
    const { wrapper, text } = build('0 0 9 ? * 2-6')
    await wrapper.findAll('.line .el-radio-button input')[1]?.setValue(true)
    expect([wrapper.props('dialect'), text()]).toEqual(['UNIX', '0 9 * * 1-5'])
  })

  it('leaves a text alone that it has no parts for', async () => {
    const { wrapper, text } = build('@every 10s')
    expect(wrapper.findAll('[role=tab]')).toHaveLength(0)
    await wrapper.findAll('.samples button')[0]?.trigger('click')
    expect(text()).toBe('0 0/5 * * * ?')
    expect(wrapper.findAll('[role=tab]')).toHaveLength(6)
  })

  it.each([
    ['at 09:00 from Monday to Friday', 'at 09:00 from Monday to Friday'],
    ['0 0 9 ? * 2-6 (Asia/Shanghai)', 'No words for this one; the fires below tell.'],
    ['', 'No words for this one; the fires below tell.'],
  ])('shows "%s" of the server as "%s"', async (words, shown) => {
    const { wrapper } = build('0 0 9 ? * 2-6')
    await wrapper.setProps({ words })
    expect(wrapper.get('.words').text()).toBe(shown)
  })
})
