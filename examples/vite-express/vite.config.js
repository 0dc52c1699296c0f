import react from '@vitejs/plugin-react';

export default { plugins: [react()], resolve: { dedupe: ['react', 'react-dom', '@tanstack/react-query'] } };
