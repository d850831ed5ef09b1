import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  unit: { ms: '毫秒', s: '秒', min: '分', h: '小时', d: '天' },
  action: {
    cancel: '取消', save: '保存', delete: '删除', edit: '编辑', create: '新建', close: '关闭', retry: '重试',
    copy: '复制', copied: '已复制', more: '更多', refresh: '刷新', back: '返回', clear: '清除', apply: '应用',
    export: '导出', showAll: '显示全部',
  },
  table: {
    first: '第一页', previous: '上一页', next: '下一页', selected: '已选 {n} 项', select: '选择 {name}',
    selectAll: '选择本页全部', loading: '正在加载', actions: '操作', rows: '{n} 行',
    searchedUntil: '已查找到 {time} 为止，可继续查找更早的记录。',
  },
  error: {
    title: '加载失败', offline: '服务器没有响应',
    offlineText: '服务器可能正在重启，或网络已断开。恢复后页面会自动继续。',
    tooSlow: '服务器响应超时', notFound: '不存在，或您无权查看',
    forbidden: '您无权查看此内容', forbiddenText: '请向管理员申请权限 {permission}。',
    tooMany: '请求过于频繁，请稍候。', console: '页面出错了', requestId: '请求 {id}',
    failed: '操作失败', conflict: '内容已被他人修改', technical: '服务器返回的信息',
  },
  empty: { title: '暂无内容', filtered: '没有符合条件的内容', clearFilters: '清除筛选条件' },
  time: { never: '从未', jobZone: '任务时区：{time}', today: '今天', now: '现在' },
  status: {
    WAITING: '等待中', RUNNING: '运行中', SUCCESS: '成功', FAILED: '失败', TIMEOUT: '超时',
    CANCELLED: '已取消', SKIPPED: '已跳过', DEAD: '死信', PLANNED: '计划中',
    CREATED: '未启用', ENABLED: '已启用', PAUSED: '已暂停', FINISHED: '已结束',
    UP: '正常', SUSPECT: '疑似失联', DOWN: '离线', DRAINING: '排空中',
    PENDING: '待触发', FIRING: '告警中', ACKNOWLEDGED: '已确认', RESOLVED: '已恢复',
    INFO: '提示', WARNING: '警告', CRITICAL: '严重',
    OPEN: '待处理', DONE: '已完成', REFUSED: '已拒绝', SENT: '已发送', SUPPRESSED: '已抑制', UNKNOWN: '未知', ACTIVE: '进行中',
    GIVEN_UP: '已放弃',
  },
  bulk: {
    title: '操作结果', sum: '成功 {done} 个，失败 {failed} 个', more: '对象多于一次可处理的数量，请再次执行以处理其余部分。', ok: '成功', failed: '失败',
  },
  confirm: { typeName: '输入 {name} 以确认' },
  chart: { asTable: '以表格显示', asChart: '以图表显示', time: '时间' },
  diff: { none: '两份文本相同。', equal: '{n} 行相同 | {n} 行相同' },
  editor: { leave: '按 Esc 再按 Tab 可离开编辑器。' },
  form: { required: '必填' },
} satisfies Texts<typeof en>
