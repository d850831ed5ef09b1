import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'

// A test that passes at the second try is named, as test/gate names those of Go.
const flaky: Reporter = {
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) console.log(`FLAKY ${test.fullName}`)
  },
}

// The tests in a browser: npm run e2e, or npm run e2e -- nodes for one file.
export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    testTimeout: 120_000,
    hookTimeout: 90_000,
    // Each file has a server and a browser of its own; they wait for each other most of their time.
    maxWorkers: 2,
    // The gate tries once more what failed (test/services/gotest).
    retry: process.env.PS_TEST_AGAIN ? 1 : 0,
    reporters: ['default', flaky],
  },
})
