import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  title: '死信', text: '重试次数已用尽的运行。排除原因后可以重放。',
  causes: '按原因', each: '逐条', job: '任务', reason: '原因', count: '数量', message: '消息', latest: '最近一次', died: '成为死信',
  replayedAs: '重放为', newRun: '新的运行', ofCause: '仅显示同一原因的死信。', selected: '所选项',
  none: '没有死信', noneText: '最后一次重试仍失败的运行会出现在这里。',
  replay: '重放', replayTitle: '重放 {name} 的 1 条死信？ | 重放 {name} 的 {n} 条死信？',
  replayText: '每条都会以原有参数作为一次新的执行运行。',
  discard: '丢弃', discardTitle: '丢弃 {name} 的 1 条死信？ | 丢弃 {name} 的 {n} 条死信？',
  discardText: '它们不再等待重放，执行记录仍会保留。',
} satisfies Texts<typeof en>
