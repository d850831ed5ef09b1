import type { Texts } from '@/shared/text'
import type en from './en'
import field from './field.zh-CN'
import policy from './policy.zh-CN'

export default {
  newTitle: '新建任务', newText: '只需填写名称和执行内容，其余都有合适的默认值。',
  copyTitle: '复制任务', copyText: '新建一个与“{name}”相同的任务，启用之前不会自动触发。', copyName: '{name}（副本）',
  editTitle: '编辑任务', editOf: '编辑 {name}', jobs: '任务', view: '显示方式', asForm: '表单', asYaml: 'YAML', sections: '表单各部分',
  section: { what: '基本信息', runs: '执行内容', when: '执行时间', behaves: '执行策略', told: '通知与后续任务' },
  sectionText: {
    what: '便于查找任务，以及遇到问题找谁。', runs: '每次运行做什么。', when: '自动触发的计划；任何时候都可以手动触发。',
    behaves: '运行失败、超时或未能按时开始时怎么办。', told: '哪些渠道会收到运行结果（告警规则同样生效），以及结束后启动哪些任务。',
  },
  problems: '{n} 处需修改', unsaved: '有未保存的修改', make: '创建任务', made: '已创建 {name}', saved: '已保存 {name}', unnamed: '此任务',
  leaveTitle: '不保存 {name} 就离开？', leaveText: '您所做的修改将会丢失。', leave: '离开',
  dropTitle: '放弃 YAML 中的修改？', dropText: '表单中没有这些修改。如需保留，请先应用文档。', drop: '放弃',
  groupDefault: 'default', enabledOn: '创建后立即按计划触发', enabledOff: '创建后先不触发，待手动恢复',
  error: { json: '不是有效的 JSON：请检查是否缺少逗号、引号或括号。', object: '必须是一个 JSON 对象，用花括号括起来。', yaml: '无法读取此 YAML，旁边已标明行号。' },
  field, ...policy,
  type: { HTTP: 'HTTP 请求', COMMAND: '脚本或命令', CUSTOM: '处理器', WORKFLOW: '工作流' },
  typeText: { HTTP: '调用一个服务，以其响应判断成败。', COMMAND: '在节点上运行，以退出码判断成败。', CUSTOM: '调用节点上注册的 Go 代码。', WORKFLOW: '按依赖依次启动多个步骤。' },
  noCommandRight: '您无权保存命令类任务。请向管理员申请 job:command 权限。',
  header: '请求头', variable: '变量', tls: '证书', limits: '进程限制', noLimit: '不限', ownFolder: '本次运行的专用目录', program: '程序',
  commandKind: { label: '脚本或程序', script: '脚本', command: '程序和参数' },
  commandKindText: { script: '由 sh、python3 等解释器执行的文本。', command: '不经过 shell，每个参数保持原样。' },
  workflow: {
    label: '步骤（YAML）', text: '注释不会保留：服务器保存的是 YAML 的内容。', line: '第 {n} 行', go: '转到第 {n} 行', checking: '服务器正在检查…',
    good: '服务器未发现问题。', unchecked: '未能检查：{why}', wrong: '{n} 处需要修正', unread: '无法读取此 YAML', warnings: '值得留意',
    graph: '当前编写的步骤', timeLimit: '工作流运行的时间限制', ofSteps: '重试、节点及其选择在各步骤中设置。', object: '请以 steps: 和步骤列表开头。',
  },
  handler: {
    choose: '选择处理器', own: '节点提供的', builtIn: '内置，用于试用', nodes: '{n} 个节点',
    missing: '目前没有存活的节点提供 {name}。任务可以保存，运行会等待到有节点提供为止。',
  },
  parameter: '参数 {n}', addParameter: '声明参数', nextJob: '任务 {n}', addNext: '启动另一个任务',
  nextOn: { SUCCESS: '成功后', FAILURE: '失败后', END: '结束后（无论成败）' }, valuesHow: '输入值后按回车',
  parameterType: { STRING: '文本', INTEGER: '整数', NUMBER: '数字', BOOLEAN: '是或否', ENUM: '枚举', DATE: '日期', DATETIME: '日期时间' },
  pairs: { key: '名称', value: '值', keyOf: '名称 {n}，{name}', valueOf: '值 {n}，{name}', add: '添加{name}', remove: '删除 {name}' },
  list: { item: '参数 {n}', itemOf: '参数 {n}，{name}', add: '添加参数', remove: '删除第 {n} 行' },
  unitOf: '{name}的单位', unit: { ms: '毫秒', s: '秒', min: '分钟', h: '小时', d: '天' },
  zone: { yours: '{name}（本地）', server: '服务器时区', schedule: '与计划相同' },
  placeholder: {
    insert: '插入占位符', preview: '下次运行时的内容', time: '计划时间', day: '计划日期', dayBefore: '前一天', params: '全部参数（JSON）',
    executionId: '运行编号', jobName: '任务名称', group: '所属分组', attempt: '第几次尝试', shardIndex: '分片序号', shardTotal: '分片总数',
    idempotencyKey: '各次尝试相同的键', deadline: '截止时间', checkpoint: '上次尝试的断点', param: '参数', secret: '密钥',
  },
  kind: { CRON: 'Cron', FIXED_RATE: '固定频率', FIXED_DELAY: '固定间隔', ONCE: '一次', NONE: '不自动触发' },
  kindText: { CRON: '按钟表时间触发。', FIXED_RATE: '按固定节奏触发。', FIXED_DELAY: '上次运行结束后隔一段时间。', ONCE: '在某一时刻触发。', NONE: '仅手动或由程序触发。' },
  bounds: '起止时间、抖动、夏令时',
  dstGap: { NEXT_VALID: '顺延到下一个存在的时间', SKIP: '跳过' }, dstOverlap: { FIRST: '只在第一次触发', BOTH: '两次都触发' },
  dialect: { QUARTZ: 'Quartz', UNIX: 'Unix' },
  cron: {
    noWords: '此表达式没有文字说明，请看下方的触发时间。', untold: '另一种语法无法表达，文本保持不变。请核对下方的触发时间。', samples: '常用',
    builder: '表达式各字段', textOnly: '此写法没有可选字段，可从上方选一个开始。',
    sample: { fiveMinutes: '每 5 分钟', hourly: '每小时', daily: '每天 02:00', workdays: '工作日 09:00', weekly: '每周一 09:00', monthly: '每月 1 日', monthEnd: '每月最后一天' },
    field: { second: '秒', minute: '分', hour: '时', day: '日', month: '月', week: '星期', year: '年' },
    unit: { second: '秒', minute: '分钟', hour: '小时', day: '天', month: '个月', week: '天', year: '年' },
    mode: {
      every: '每一个', none: '任意', step: '按步长', range: '区间', list: '指定', last: '最后一天', lastWorkday: '最后一个工作日', workday: '最近的工作日',
      lastWeek: '当月最后一个', nthWeek: '当月第几个', text: '文本',
    },
    every: '每', from: '，起始于', step: '步长', start: '起始', first: '从', last: '到', values: '取值', before: '距最后一天的天数', beforeLast: '天（当月最后一天之前）',
    nth: '第几个', nthOf: '第 {n} 个', free: '任意：由另一个日期字段决定。', all: '不限制。',
  },
  fires: {
    title: '接下来 30 次触发', list: '接下来的触发时间', none: '不会再触发。', change: '此处时钟调整：{from} → {to}', mine: '本地：{time}',
    ofDay: '触发 {n} 次', mark: { moved: '已顺延：该时间不存在', skipped: '已跳过：该时间不存在', again: '同一钟点再次出现' },
  },
  noChannels: '还没有通知渠道。请先在告警设置中新建，再在此选择。', nobody: '不通知', nothing: '无',
  deadlineOn: '必须在每天某个时间之前成功', onMiss: { ALERT: '发出告警', CANCEL: '发出告警，并停止仍在运行的' },
  conflict: {
    title: '{name} 已被他人修改', by: '在您编辑期间，{user} 保存了另一个版本。', bySomebody: '在您编辑期间，另一个版本已被保存。',
    clashes: '双方都修改了 {n} 个字段。', changes: '差异', field: '字段', before: '打开时', theirs: '现在保存的', mine: '您的',
    both: '双方都改', takeTheirs: '采用对方的', keepMine: '在对方版本上保留我的修改',
  },
  trial: {
    button: '试运行', title: '试运行 {name}', run: '运行一次', again: '再运行一次', stop: '取消运行', close: '关闭', running: '正在运行……',
    text: '在应答的节点上真实运行一次，最长 30 秒。仅在审计日志中留下一条记录：不产生任务、执行记录、统计或告警。',
    stopped: '运行已取消。', refused: '未能运行', exitCode: '退出码 {code}', node: '节点 {node}', logCut: '日志超出试运行的显示上限，已在此截断。',
    not: {
      workflow: '工作流不能试运行。可用命令 workflow simulate 推演其步骤。',
      write: '您无权编辑此分组的任务（job:write）。', run: '您无权运行此分组的任务（job:run）。',
      command: '您无权运行命令。请向管理员申请 job:command 权限。',
    },
  },
  yaml: {
    text: '以文档表示的任务，与导出格式相同。服务器会先检查并说明将要改变的内容。', label: '任务的 YAML', wrong: '文档有误',
    plan: '将要改变', check: '检查', apply: '应用', applied: '文档已应用', first: '请先检查。', other: '这涉及另一个任务：任务以分组和名称区分。',
    action: { CREATE: '新建', UPDATE: '修改', UNCHANGED: '无变化', DELETE: '删除' },
  },
} satisfies Texts<typeof en>
