import type { Texts } from '@/shared/text'
import type en from './policy.en'

export default {
  hint: {
    name: '在分组内唯一。', owner: '有问题找谁：姓名、邮箱或团队。', labels: '自定义，用于筛选。',
    timeoutSec: '0 表示不限；HTTP 请求此时为 60 秒。', startDeadlineSec: '0 表示永不放弃。', priority: '排队时 10 最优先。',
    shardCount: '每次触发有这么多个运行，各有序号。', maxConcurrency: '0 表示不限。', maxQueued: '超出的触发会被跳过。',
    jobData: {
      expectedStatus: '例如 200,204,300-302，其余均为失败。', expectedBody: '一段文本；留空则不检查。', async: '响应只表示开始。需要设置时限。',
      script: '脚本中的占位符不会被替换，请用环境变量传值。', successExitCodes: '以逗号分隔。', outputCharset: '例如 gbk 或 iso-8859-1。', clientKey: '须来自密钥。',
    },
    parameters: { list: '声明后，手动触发时会显示为表单；不声明则可以传任意参数。' },
    schedule: { jitterMs: '每次开始会延后其中固定的一部分，避免同一时刻的任务一起启动。', misfireThresholdSec: '延迟小于此值不算错过。', misfireWindowSec: '更早的触发会被跳过，并产生告警。' },
    retryPolicy: { jitter: '每次等待随机缩短或延长的最大比例。', noRetryOn: '重试也无法解决的原因。' },
    routing: { workers: '由该组的 Worker 运行任务；留空则由节点运行。命令类任务要求该组允许运行命令。' },
    next: { list: '每次触发的所有分片结束后启动一次。', job: '任务名；其他分组的任务写作 分组/任务名。', params: '可使用已结束运行的占位符，如 ${result}、${status}。' },
    alerts: { lateAfterSec: '0 表示使用集群的宽限时间。' },
  },
  retryTitle: '尝试失败时', noRetry: '失败即结束，不重试。', waits: '等待：{list}',
  backoff: { FIXED: '每次相同', LINEAR: '每次增加首次等待', EXPONENTIAL: '每次加倍' },
  overlap: { PARALLEL: '并行运行', SERIAL: '排队等待', DISCARD: '丢弃新的', REPLACE: '替换旧的' },
  overlapText: { PARALLEL: '两个同时运行。', SERIAL: '旧的结束后新的才开始。', DISCARD: '本次触发被跳过，并记入台账。', REPLACE: '停止旧的运行，开始新的。' },
  misfire: { FIRE_ONCE: '只补最近一次', SKIP: '不补', FIRE_ALL: '全部补跑' },
  misfireText: { FIRE_ONCE: '中断之后，补跑最近错过的一次，除非它已过于久远。', SKIP: '跳过错过的触发，按计划继续。', FIRE_ALL: '按顺序补跑每一次。' },
  nodeLoss: { RETRY: '重新运行', FAIL: '视为失败' },
  nodeLossText: { RETRY: '由其他节点重新开始。', FAIL: '由人来检查已做到哪一步。' },
  where: '在哪里运行：优先级、分片、路由',
  routing: {
    ANY: '任意空闲节点', ROUND_ROBIN: '轮询', RANDOM: '随机', WEIGHTED: '按权重', LEAST_LOADED: '负载最低', CONSISTENT_HASH: '一致性哈希',
    FIRST: '第一个', LAST: '最后一个', LFU: '使用最少', LRU: '最久未用', FAILOVER: '故障转移', BUSY_OVER: '忙则转移',
  },
} satisfies Texts<typeof en>
