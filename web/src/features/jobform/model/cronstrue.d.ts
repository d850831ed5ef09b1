// The package has no types for its locales; loading one registers it.
declare module 'cronstrue/locales/zh_CN'
