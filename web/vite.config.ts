import { fileURLToPath } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { ElementPlusResolver } from 'unplugin-vue-components/resolvers'
import components from 'unplugin-vue-components/vite'
import { defineConfig } from 'vitest/config'

// Where `npm run dev` finds a server: PS_SERVER=http://127.0.0.1:8080 npm run dev
const server = process.env['PS_SERVER'] ?? 'http://127.0.0.1:8080'
const testing = process.env['VITEST'] !== undefined

export default defineConfig({
  plugins: [
    vue(),
    // Element Plus on demand, with the styles of what is used. Our own components are imported by name.
    components({ dirs: [], dts: false, resolvers: [ElementPlusResolver({ importStyle: testing ? false : 'css' })] }),
  ],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  define: { __VUE_OPTIONS_API__: true, __VUE_PROD_DEVTOOLS__: false, __VUE_I18N_LEGACY_API__: false },
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    chunkSizeWarningLimit: 1200,
  },
  server: {
    port: 5173,
    proxy: { '^/(api|openapi.json|healthz|readyz|version|swagger)': { target: server, changeOrigin: false } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts', 'e2e/**/*.test.ts'],
    setupFiles: ['src/test/setup.ts'],
    server: { deps: { inline: ['element-plus'] } },
    maxWorkers: 2,
  },
})
