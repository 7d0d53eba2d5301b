// A webhook endpoint that accepts every request. It writes its address to the given file.
import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'

const server = createServer((request, answer) => {
  request.resume()
  request.on('end', () => answer.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => writeFileSync(process.argv[2], `http://127.0.0.1:${server.address().port}/hook`))
