import type { Texts } from '@/shared/text'
import type en from './field.en'

export default {
  name: '名称', group: '分组', description: '描述', owner: '负责人', labels: '标签', enabled: '计划', jobType: '类型', jobClass: '处理器',
  timeoutSec: '每次尝试的时限', startDeadlineSec: '超过多久未开始则放弃', priority: '优先级', shardCount: '分片数', broadcast: '在每个节点（或该组每个 Worker）上运行',
  overlapPolicy: '上一次运行未结束时', maxConcurrency: '同时运行数', maxQueued: '最多排队', onNodeLoss: '所在节点失联时',
  jobData: {
    method: '方法', url: 'URL', headers: '请求头', body: '请求体', expectedStatus: '期望的状态码', expectedBody: '响应必须包含', async: '由目标稍后报告结束',
    clientCertificate: '客户端证书（PEM）', clientKey: '客户端私钥', certificateAuthority: '证书颁发机构（PEM）', command: '程序和参数', script: '脚本',
    interpreter: '解释器', env: '环境变量', workingDir: '工作目录', successExitCodes: '表示成功的退出码', outputCharset: '输出的字符编码', cpuSec: 'CPU 秒数', memoryMb: '内存（MiB）',
    openFiles: '打开文件数', processes: '进程数', fileMb: '单个文件大小（MiB）', data: '传给处理器的内容（JSON）',
  },
  parameters: { list: '参数', name: '名称', type: '类型', default: '默认值', required: '必填', description: '说明', values: '可选值' },
  schedule: {
    kind: '方式', cronExpression: 'Cron 表达式', dialect: '语法', intervalMs: '间隔', at: '时间', timeZone: '时区', startTime: '不早于', endTime: '不晚于',
    jitterMs: '抖动', dstGap: '因时钟调整而不存在的时间', dstOverlap: '出现两次的时间', misfirePolicy: '错过触发时',
    misfireThresholdSec: '迟到多久算错过', misfireWindowSec: '最多回溯', misfireMaxFires: '最多补跑',
  },
  retryPolicy: { maxRetries: '重试次数', backoff: '等待方式', intervalMs: '首次等待', maxIntervalMs: '最长等待', jitter: '随机比例', noRetryOn: '以下原因不重试' },
  routing: { strategy: '节点或 Worker 的选择方式', labels: '须带的标签', workers: 'Worker 组' },
  next: { list: '启动其他任务', job: '任务', on: '何时', params: '参数（JSON）' },
  alerts: { onFailure: '最终失败时', onSuccess: '成功时', onEnd: '结束时（无论成败）', onLate: '延迟时', onRecovered: '恢复正常时', lateAfterSec: '延迟多久通知' },
  deadline: { at: '截止', timeZone: '时区', onMiss: '未完成则' },
} satisfies Texts<typeof en>
