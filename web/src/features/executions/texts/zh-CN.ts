import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  title: '执行记录', text: '所有任务的每一次运行，最新的在前。',
  emptyText: '任务触发后，运行记录会出现在这里。',
  id: '执行', job: '任务', jobId: '任务 ID', status: '状态', scheduled: '计划时间', duration: '耗时', lateness: '延迟',
  trigger: '触发方式', anyTrigger: '任意触发方式', attempt: '尝试次数', node: '节点', all: '全部', from: '开始', to: '结束', range: '计划时间范围',
  triggers: { SCHEDULE: '调度', MANUAL: '手动', API: 'API', RETRY: '重试', MISFIRE: '补偿触发', DEPENDENCY: '前置任务' },
  cancel: '取消运行', retry: '重新运行',
  cancelText: '已开始的运行会收到停止请求，已完成的操作不会撤销。',
  retryText: '将以相同的参数作为一次新的执行运行。',
  cancelTitle: '取消 {name} 的这次运行？', retryTitle: '重新运行 {name}？',
  cancelMany: '取消 1 次运行？ | 取消 {n} 次运行？', retryMany: '重新运行 1 次？ | 重新运行 {n} 次？',
  failed: {
    open: '重新运行失败的执行…', title: '重新运行失败的执行',
    day: '最近一天内失败的执行。列表的筛选条件会缩小范围。',
    span: '计划时间在列表所选区间内的失败执行。列表的其他筛选条件同样生效。',
    count: '执行 {n} 次，任务 {jobs} 个。', causes: '原因', runs: '次数', reason: '类别',
    left: '未计入：已重新运行 {again} 次，所属任务之后已成功 {succeeded} 次，任务已删除 {deleted} 次。',
    more: '还有更多；只计最新的 5,000 次。', incomplete: '还有更早的失败未查看。',
    also: '也包括之后已有成功执行的任务', start: '重新运行 1 次 | 重新运行 {n} 次',
  },
  cancelled: '已请求停止', retried: '已重新运行',
  about: '概况', error: '错误', by: '发起者', token: '隔离令牌 / 纪元', version: '任务版本', retryOf: '重试自', startedBy: '前置运行', started: '已启动',
  usage: '资源用量', used: 'CPU {cpu}，内存 {memory}',
  progress: '进度', timeline: '运行过程', planned: '计划', created: '创建', ended: '结束', attemptN: '第 {n} 次尝试',
  shards: '分片', result: '结果', params: '参数', checkpoint: '检查点', none: '无',
  tab: { log: '日志', output: '结果', compare: '对比' },
  noGood: '该任务在此之前没有成功的运行', notAll: '只查找了最近的运行。',
  lastGood: '上次成功的运行', thisRun: '本次运行', logDiff: '日志对比', logDiffHead: '仅对比各自的前 {n} 行。',
  log: {
    search: '搜索日志', noHit: '未找到', hit: '第 {at} 处，共 {n} 处', before: '上一处', after: '下一处', count: '1 行 | {n} 行',
    away: '连接已断开，将自动恢复。', follow: '跟随', download: '下载', empty: '本次运行没有输出日志。', line: '第 {n} 行',
  },
  workersOf: '{group} 组的 Worker',
  waits: {
    SLOT: '正在等待空闲的执行槽。', NODE: '正在等待可运行它的节点。', COMMAND: '正在等待可运行命令的节点。',
    HANDLER: '正在等待对应的处理器。', WORKER: '正在等待其 Worker 组中的 Worker。', TIME: '正在等待运行时间。', JOB: '正在等待该任务的另一次运行。',
    GROUP: '正在等待分组中的空位。',
  },
  reasons: {
    OVERLAP: '重叠', QUEUE_FULL: '队列已满', REPLACED: '被替换', MISFIRE: '错过触发', PAUSED: '已暂停', NO_NODE: '无可用节点',
    DEADLINE: '超过截止时间', NODE_LOST: '节点丢失', SHUTDOWN: '节点关闭', EXIT_CODE: '退出码', HTTP_STATUS: 'HTTP 状态码',
    BODY_MISMATCH: '响应内容不符', REDIRECTED: '被重定向', PANIC: '崩溃', INVALID: '无效', DELETED: '任务已删除', SECRET_MISSING: '缺少密钥',
    TIMEOUT: '超时', ERROR: '错误',
  },
} satisfies Texts<typeof en>
