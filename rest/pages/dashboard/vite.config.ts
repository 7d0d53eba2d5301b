import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { chunkOf, iconsByFile, withoutScrolling } from './scripts/chunks.ts'

// Browsers that know light-dark(), on which both themes stand.
const browsers = ['chrome123', 'firefox120', 'safari17.5']

const server = process.env.POSTRIDER_URL ?? 'http://127.0.0.1:8080'
const served = ['/api', '/graphql', '/explorer', '/preview', '/healthz', '/dev', '/sign-in', '/sign-up', '/setup', '/reset', '/email', '/invite', '/favicon.svg']

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// What is there once a part is asked for: it need not be named again.
const there = /\/(base|first|index|rolldown-runtime)-/

export default defineConfig({
  plugins: [withoutScrolling, iconsByFile(), react(), tailwind()],
  resolve: {
    alias: [
      { find: '@', replacement: here('./src') },
      { find: /^use-sync-external-store\/shim\/with-selector(\.js)?$/, replacement: here('./src/api/selector.ts') },
    ],
  },
  build: {
    target: browsers, cssTarget: browsers, manifest: true, 
    modulePreload: { polyfill: false, resolveDependencies: (_, files, { hostType }) => (hostType === 'js' ? files.filter((f) => !there.test(f)) : files) }, assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/first-[hash].js', chunkFileNames: (chunk) => (there.test(`/${chunk.name}-`) || chunk.name.endsWith('worker') ? 'assets/[name]-[hash].js' : 'assets/[hash].js'),
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf as never, debugName: 'parts of the app' }] },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(served.map((path) => [`^${path.replace('.', '\\.')}([/?#]|$)`, { target: server, changeOrigin: true, headers: { origin: server } }])) },
})
