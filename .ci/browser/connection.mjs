// A TCP connection between the browser and the service that can be cut and restored.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

// line returns its port, and the functions cut and mend.
export async function line(to) {
  const { port } = new URL(to)
  const held = new Set()
  const server = createServer(near => {
    const far = connect(port, '127.0.0.1')
    for (const [a, b] of [[near, far], [far, near]]) {
      held.add(a)
      a.on('error', () => b.destroy())
      a.on('close', () => { held.delete(a); b.destroy() })
      a.pipe(b)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref() // must not keep the script running
  const at = server.address().port
  return {
    port: at,
    async cut() {
      server.close()
      for (const s of held) s.destroy()
      await once(server, 'close')
    },
    async mend() {
      server.listen(at, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
