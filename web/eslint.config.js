import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'

// The client of the API is used by queries.ts of a feature, and by the shared parts that need it.
const onlyQueries = [{ group: ['**/shared/api/client', '@/shared/api/client'], message: 'Only queries.ts of a feature calls the server.' }]

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/shared/api/schema.d.ts'] },
  ...ts.configs.strict,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.vue'],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      'max-lines': ['error', { max: 300 }],
      'no-console': 'error',
      eqeqeq: 'error',
      'vue/no-v-html': 'error',
      'vue/no-static-inline-styles': 'error',
      'vue/no-bare-strings-in-template': ['error', { allowlist: ['·', '–', '—', ':', '/', '%', '(', ')', '→', '×', ',', '…', '+', '#', '?', 'g'] }],
      'vue/block-order': ['error', { order: ['script', 'template', 'style'] }],
      'vue/multi-word-component-names': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'any', normal: 'any', component: 'always' } }],
      'vue/html-closing-bracket-newline': 'off',
      'vue/html-indent': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: ['src/features/**', 'src/app/**'],
    ignores: ['**/queries.ts', '**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: onlyQueries }] },
  },
  {
    files: ['src/shared/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ group: ['@/features/**', '**/features/**', '@/app/**'], message: 'A shared part knows no feature.' }] }] },
  },
  {
    files: ['scripts/**', 'e2e/**', '*.config.*'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
    rules: { 'no-console': 'off' },
  },
)
