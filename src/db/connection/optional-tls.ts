import pg from 'pg';
import { NegotiatingConnection } from '../pipeline/pg-internals.ts';

const REFUSED = 'N';

/** A client that uses TLS if the server offers it, and else continues without (`sslmode=prefer`). pg has no such mode. */
export class OptionalTlsClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    // Not a copy: pg-pool hides the password from enumeration.
    super(Object.create(config, { connection: { value: new OptionalTlsConnection(config) } }) as pg.ClientConfig);
  }
}

class OptionalTlsConnection extends NegotiatingConnection {
  override connect(port: number | string, host?: string): void {
    super.connect(port, host);
    if (this.ssl === false) return; // a Unix socket
    const { stream } = this;
    const [onAnswer] = stream.listeners('data');
    stream.removeAllListeners('data');
    stream.once('data', (answer: Buffer) => {
      if (answer.toString() !== REFUSED) {
        onAnswer?.call(stream, answer);
        return;
      }
      this.attachListeners(stream);
      this.emit('sslconnect'); // The client sends its startup message.
    });
  }
}
