import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Browsers that know light-dark(), on which both themes stand.
const browsers = ['chrome123', 'firefox120', 'safari17.5']

const server = process.env.POSTRIDER_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: { target: browsers, cssTarget: browsers, manifest: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(['/api', '/graphql', '/preview', '/healthz', '/dev', '/sign-in', '/sign-up', '/set-up', '/favicon.svg'].map((path) => [path, { target: server, changeOrigin: true, headers: { origin: server } }])) },
})
