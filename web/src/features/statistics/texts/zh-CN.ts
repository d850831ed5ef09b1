import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  title: '统计',
  text: '运行汇总：运行次数、成功次数、耗时与启动延迟。',
  range: '时间范围',
  ranges: { '24h': '24 小时', '3d': '3 天', '7d': '7 天', '30d': '30 天', '90d': '90 天', '365d': '一年', days: '自选日期' },
  fromDay: '起始日期', toDay: '结束日期', chooseDays: '请选择起始日期与结束日期',
  chooseDaysText: '按天的数据保留 400 天。',
  by: '粒度', HOUR: '按小时', DAY: '按天', hoursKept: '按小时的数据保留三天。',
  subject: '统计对象', subjects: { all: '全部任务', job: '单个任务', group: '单个分组', node: '单个节点', workers: '单个 Worker 组' },
  choose: { job: '选择任务', group: '选择分组', node: '选择节点', workers: '选择 Worker 组' },
  chooseText: { job: '输入任务名称的一部分。', group: '请在上方选择。', node: '请在上方选择。', workers: '请在上方选择或输入。' },
  runs: '运行次数', successRate: '成功率', failures: '失败次数', skipped: '跳过次数', retries: '重试次数', lateRuns: '延迟启动',
  duration: '耗时', lateness: '启动延迟',
  ofThem: '失败 {failed}，超时 {timeout}，死信 {dead}', succeeded: '成功 {n} 次', cancelled: '取消 {n} 次',
  skippedNote: '未运行的触发', retriesNote: '由引擎发起', lateNote: '超过 1 秒',
  p50Ms: '中位数', p95Ms: 'P95', p99Ms: 'P99', mean: '平均值',
  figures: '该时间范围的汇总',
  span: '{from} 至 {to}', asOf: '统计截至 {time}。', zone: '日期与小时按 {zone} 时区。',
  rounded: '该时区的一天不在 UTC 整点开始，已按整点取整。',
  error: '百分位数误差不超过 {share}。',
  time: '时间（{zone}）',
  charts: { runs: '按结果统计的运行次数', successRate: '成功率', duration: '耗时', lateness: '启动延迟' },
  noneOf: {
    successRate: '除已取消的运行外，没有结束的运行。', duration: '该时间范围内没有开始的运行。', lateness: '该时间范围内没有由调度触发的运行。',
  },
  none: '该时间范围内没有结束的运行', noneText: '请选择更长的时间范围，或查看全部任务。',
  top: '值得关注的任务', topText: '该时间范围内排名前十的任务。', topBy: '排序方式',
  order: { failures: '失败最多', late: '延迟最多', duration: '总耗时最长', runs: '运行最多', skipped: '跳过最多', retries: '重试最多' },
  job: '任务', group: '分组', goneJob: '已删除的任务', total: '总耗时', average: '平均耗时', topNone: '没有值得关注的任务',
  exportLines: '导出 CSV', exportTop: '导出任务 CSV',
} satisfies Texts<typeof en>
