import { useRef } from 'react';

/**
 * Returns a call of which one runs at a time for each input: two clicks before the page shows that it runs share its
 * result.
 * @param isFinal whether the result is also that of all later calls, unless it failed
 */
export function useSingleFlight<Input, Output>(call: (input: Input) => Promise<Output>, isFinal = false) {
  const flights = useRef(new Map<string, Promise<Output>>());
  return (input: Input): Promise<Output> => {
    const key = JSON.stringify(input);
    const running = flights.current.get(key);
    if (running !== undefined) return running;
    const output = call(input);
    const forget = () => void flights.current.delete(key);
    flights.current.set(key, output);
    output.then(isFinal ? undefined : forget, forget);
    return output;
  };
}
