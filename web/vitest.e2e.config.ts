import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// The tests in a browser: npm run e2e, or npm run e2e -- nodes for one file.
export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    fileParallelism: false,
    retry: 0,
  },
})
