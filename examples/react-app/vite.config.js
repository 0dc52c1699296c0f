import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const roster = process.env.ROSTER_URL ?? 'http://localhost:3000';

// As in production, where the app is on the origin of Roster: the proxy makes calls come from there, and a browser
// sends the session cookie of localhost to all of its ports.
export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/trpc': { target: roster, changeOrigin: true, headers: { origin: roster } } } },
});
