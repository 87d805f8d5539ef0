/* TLS with clients, ended at the proxy by a certificate of its own: the one place that knows
 * OpenSSL.
 *
 * (TS1) Keys stay in memory. What is written is ca.pem, the certificate that clients can verify
 *       with sslrootcert; it is for localhost and 127.0.0.1, for a day. */
#ifndef WIRE_TLS_H
#define WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TLS_CA_FILE "ca.pem"

struct tls;      /* of a proxy */
struct tls_link; /* of a connection */

/* NULL: it could not be made, and `why` says why. */
struct tls *tls_open(const char *folder, char *why, size_t size);
void tls_close(struct tls *tls);

/* The client on this descriptor is about to shake hands. NULL: no memory. */
struct tls_link *tls_accept(struct tls *tls, int descriptor);
void tls_end(struct tls_link *link);

/* As read() and write() on a descriptor that does not block: -1 with EAGAIN in errno. */
ssize_t tls_read(struct tls_link *link, char *bytes, size_t size);
ssize_t tls_write(struct tls_link *link, const char *bytes, size_t size);

#endif
