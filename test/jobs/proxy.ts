import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be cut and mended, as the outage of that server looks from here. */
export async function startProxy(to: { port: number; host: string }) {
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  let server = create();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP

  function create() {
    return createServer((near) => {
      const far = connect(to.port, to.host);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            sockets.delete(socket);
            if (!silent.has(other)) other.destroy();
          });
        socket.pipe(other);
      }
    });
  }

  async function cut(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    silent.clear();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    cut,
    /** Passes on nothing more of the connections that there are, as a network that loses packets. New ones work. */
    silence(): void {
      for (const socket of sockets) {
        silent.add(socket);
        socket.unpipe();
        socket.pause();
      }
    },
    async mend() {
      server = create();
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
