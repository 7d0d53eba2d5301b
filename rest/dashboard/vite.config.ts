import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// Browsers that know light-dark(), on which both themes stand.
const browsers = ['chrome123', 'firefox120', 'safari17.5']

const server = process.env.POSTRIDER_URL ?? 'http://127.0.0.1:8080'
const served = ['/api', '/graphql', '/preview', '/healthz', '/dev', '/sign-in', '/sign-up', '/set-up', '/favicon.svg']

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// The router's scroll restoration is switched off here: our lists scroll in a box of their own.
const withoutScrolling: Plugin = {
  name: 'without-scroll-restoration',
  enforce: 'pre',
  resolveId: (id, importer) => (/\/scroll-restoration(\.js|-script)$/.test(id) && importer?.includes('@tanstack') ? '\0no-scroll-restoration' : null),
  load: (id) => (id === '\0no-scroll-restoration' ? 'const none = () => null; export { none as ScrollRestoration, none as setupScrollRestoration, none as getElementScrollRestorationEntry, none as defaultGetScrollRestorationKey, none as getScrollRestorationScriptForRouter }; export const storageKey = ""' : null),
}

export default defineConfig({
  plugins: [withoutScrolling, react(), tailwind()],
  resolve: {
    alias: [
      { find: '@', replacement: here('./src') },
      { find: /^use-sync-external-store\/shim\/with-selector(\.js)?$/, replacement: here('./src/api/selector.ts') },
    ],
  },
  build: {
    target: browsers, cssTarget: browsers, manifest: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // What every page needs and an upgrade seldom changes.
        codeSplitting: { groups: [{ name: 'base', test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-router|router-core|history|store|react-store|query-core|react-query))\// }] },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(served.map((path) => [path, { target: server, changeOrigin: true, headers: { origin: server } }])) },
})
