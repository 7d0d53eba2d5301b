// A line between the browser and the service that can be cut and mended: what goes over it is TCP.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

// line gives the port at its end, and cut and mend.
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
  server.unref() // the script ends without it
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
