import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  title: '大屏',
  running: '运行中', waiting: '等待中', late: '启动延迟', failing: '最近一小时失败', nodes: '在线节点',
  lateNote: '99% 的启动不超过', succeeded: '成功 {n} 次', enabled: '已启用 {n} 个任务', deadLetters: '死信 {n} 条',
  notUp: '{n} 个不在线', allUp: '全部在线', atLeast: '{n} 或更多',
  degraded: '部分组件工作异常',
  alerts: '正在触发的告警', alertsNone: '没有正在触发的告警',
  failures: '最近的失败', failuresNone: '没有失败',
  load: '未来两小时', loadNone: '没有计划中的启动', loadMost: '最多：{time} 启动 {n} 次',
  minute: '{time}：启动 {n} 次',
  old: '服务器没有响应。以下数据为 {age} 前。',
  oldOther: '服务器拒绝了请求。以下数据为 {age} 前。',
  never: '服务器没有响应，恢复后大屏会自动显示数据。',
  fresh: '{age} 前更新', now: '刚刚更新',
  refused: '令牌无效：已被吊销、已过期，或属于另一台服务器。',
  refusedText: '请使用新的令牌打开大屏：{address}',
  forbidden: '需要权限 {permission}。',
  nobody: '尚未登录',
  nobodyText: '请登录，或使用具有读取权限的 API 令牌打开大屏：{address}',
  address: '/wall#token=TOKEN',
  signIn: '登录', byToken: '使用 API 令牌', forget: '忘记令牌', full: '全屏', console: '控制台',
} satisfies Texts<typeof en>
