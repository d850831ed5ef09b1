import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  name: '平台调度器',
  brand: '调度器',
  skip: '跳到正文',
  navigation: '导航',
  menu: '打开菜单',
  fold: '收起',
  unfold: '展开',
  section: { work: '任务', observe: '观测', manage: '管理' },
  search: '搜索或跳转…',
  live: '变化会立即显示',
  notLive: '实时推送未连接，变化会在 15 秒内显示',
  liveShort: '实时',
  notLiveShort: '轮询',
  zone: '控制台使用的时区',
  zoneOfBrowser: '浏览器',
  theme: { title: '外观', auto: '跟随系统', light: '浅色', dark: '深色' },
  language: '语言',
  account: '账号',
  accountOf: '{name} 的账号',
  role: { admin: '管理员', operator: '操作员', viewer: '只读用户', disabled: '已停用' },
  changePassword: '修改密码',
  signOut: '退出登录',
  api: 'API 文档',
  standby: '此服务器处于待命状态：不触发、也不执行任何任务。',
  notFound: { title: '页面不存在', text: '地址可能已失效或输入有误。', home: '返回首页' },
  noPermission: {
    title: '您无权查看此页面',
    nothing: '您的账号没有任何页面的权限，请联系管理员。',
  },
  help: {
    open: '键盘快捷键', title: '键盘快捷键', anywhere: '任意位置', go: '跳转到', search: '搜索或跳转页面',
    help: '显示快捷键', table: '在列表中', range: '选中两行之间的所有行', shiftClick: 'Shift 加单击', close: '关闭当前弹窗',
  },
  palette: {
    title: '搜索', placeholder: '页面、操作或任务名称的一部分', pages: '页面', actions: '操作', jobs: '任务',
    nothing: '没有找到', results: '{n} 个结果',
  },
} satisfies Texts<typeof en>
