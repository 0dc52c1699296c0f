// What the benchmark uses of it. It brings no types, and is not installed where the rest is checked.
declare module 'autocannon' {
  type Request = {
    method: string;
    path: string;
    headers: Readonly<Record<string, string>>;
    body?: string;
  };
  type Client = { setRequests(requests: Request[]): void };
  type Result = {
    '2xx': number;
    non2xx: number;
    errors: number;
    timeouts: number;
    mismatches: number;
    duration: number;
  };
  type Options = {
    url: string;
    connections: number;
    duration?: number;
    amount?: number;
    requests: Request[];
    setupClient(client: Client): void;
    verifyBody(body: string): boolean;
  };
  // eslint-disable-next-line import/no-default-export -- it has no other
  export default function autocannon(options: Options): Promise<Result>;
}
