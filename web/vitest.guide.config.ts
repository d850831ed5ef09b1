import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// The pictures of the user guide: make guide.
export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  test: { environment: 'node', include: ['e2e/guide/guide.ts'], testTimeout: 60_000, hookTimeout: 90_000 },
})
