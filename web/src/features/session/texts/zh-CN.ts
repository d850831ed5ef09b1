import type { Texts } from '@/shared/text'
import type en from './en'

export default {
  signIn: '登录',
  overTitle: '会话已结束',
  overText: '请重新登录以继续：页面和已输入的内容都还在。',
  another: '此浏览器现在登录的是 {now}，而此页面属于 {before}。如果以 {now} 继续，这里输入的内容将会丢失。',
  goOn: '以 {name} 继续', orBack: '或重新以 {name} 登录：', leave: '离开此页面',
  username: '用户名',
  password: '密码',
  wrong: '用户名或密码错误。',
  wait: '尝试次数过多，请在 {time} 后重试。',
  first: '首次启动？',
  firstText: '第一个用户是 {user}。修改之前，其密码保存在服务器数据目录的 {file} 文件中。',
  changePassword: '修改密码',
  changeTextHere: '修改后您在其他地方的会话都会结束，此处可以继续。',
  changeText: '修改后您的所有会话都会结束，包括当前会话。',
  mustChange: '当前密码是初始密码或由管理员设置，他人可能知道。请先设置自己的密码再继续。',
  old: '原密码',
  next: '新密码',
  nextHint: '至少 10 个字符；不能是常见密码、与用户名相近，或由少数字符重复而成。',
  repeat: '再次输入新密码',
  differs: '两次输入的密码不一致。',
  keepTokens: '保留我的 API 令牌',
  keepTokensHint: '否则它们也会被吊销。',
  changedHere: '密码已修改。',
  changed: '密码已修改，请用新密码登录。',
} satisfies Texts<typeof en>
