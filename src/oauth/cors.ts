import type { RequestHandler } from 'express';

/** Lets pages of every origin read the answer. It depends on no cookie. */
export const allowAnyOrigin: RequestHandler = (_req, res, next) => {
  res.set('Access-Control-Allow-Origin', '*');
  next();
};

/** Creates the response to CORS preflights. It allows every header, because clients send custom ones such as a protocol version. */
export const createPreflightHandler =
  (method: 'GET' | 'POST'): RequestHandler =>
  (_req, res) => {
    res.status(204).set({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': method,
      'Access-Control-Allow-Headers': '*',
      'Access-Control-Max-Age': '3600',
    });
    res.end();
  };
