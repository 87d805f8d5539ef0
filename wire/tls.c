#include "wire/tls.h"

#include "wire/link.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALID_SECONDS 86400L

struct tls {
    SSL_CTX *context;
    BIO_METHOD *method;
};

struct tls_link {
    SSL *ssl;
    int descriptor;
};

/* ---- certificates ---- */

static bool name(X509 *certificate, X509 *issuer, const char *common)
{
    X509_NAME *subject = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)common,
                                      -1, -1, 0) == 1 &&
           X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1;
}

static bool extend(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

/* A certificate for `key`; issued by itself if it is an authority, which `issuer` NULL says. */
static X509 *issue(EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key)
{
    X509 *made = X509_new();
    X509 *by = issuer == NULL ? made : issuer;
    bool authority = issuer == NULL;
    bool good =
        made != NULL && X509_set_version(made, X509_VERSION_3) == 1 &&
        ASN1_INTEGER_set(X509_get_serialNumber(made), authority ? 1 : 2) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(made), -VALID_SECONDS) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(made), VALID_SECONDS) != NULL &&
        X509_set_pubkey(made, key) == 1 && name(made, by, authority ? "assay wire" : "localhost") &&
        extend(made, by, NID_basic_constraints, authority ? "critical,CA:TRUE" : "CA:FALSE") &&
        (authority || extend(made, by, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1")) &&
        X509_sign(made, issuer_key, EVP_sha256()) != 0;
    if (!good) {
        X509_free(made);
    }
    return good ? made : NULL;
}

static bool write_certificate(const char *folder, X509 *certificate)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/" TLS_CA_FILE, folder);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && PEM_write_X509(file, certificate) == 1;
    return file != NULL && fclose(file) == 0 && written;
}

static bool certify(SSL_CTX *context, const char *folder)
{
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    X509 *ca = ca_key == NULL ? NULL : issue(ca_key, NULL, ca_key);
    X509 *own = ca == NULL || key == NULL ? NULL : issue(key, ca, ca_key);
    bool good = own != NULL && SSL_CTX_use_certificate(context, own) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1 && write_certificate(folder, ca);
    X509_free(own);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    return good;
}

/* ---- a BIO on a descriptor, of which writing raises no SIGPIPE ---- */

static int bio_read(BIO *bio, char *bytes, int size)
{
    struct tls_link *link = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = link_plain_read(link->descriptor, bytes, (size_t)size);
    if (count < 0 && errno == EAGAIN) {
        BIO_set_retry_read(bio);
    }
    return (int)count;
}

static int bio_write(BIO *bio, const char *bytes, int size)
{
    struct tls_link *link = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = link_plain_write(link->descriptor, bytes, (size_t)size);
    if (count < 0 && errno == EAGAIN) {
        BIO_set_retry_write(bio);
    }
    return (int)count;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "assay wire");
    if (method != NULL) {
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_ctrl(method, bio_control);
    }
    return method;
}

/* ---- what the proxy uses ---- */

struct tls *tls_open(const char *folder, char *why, size_t size)
{
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls != NULL) {
        tls->context = SSL_CTX_new(TLS_server_method());
        tls->method = make_method();
        if (tls->context != NULL && tls->method != NULL && certify(tls->context, folder)) {
            SSL_CTX_set_mode(tls->context,
                             SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
            return tls;
        }
    }
    snprintf(why, size,
             "TLS cannot be set up: %s; the folder %s must be there and writable for " TLS_CA_FILE,
             ERR_peek_error() == 0 ? strerror(errno) : ERR_reason_error_string(ERR_peek_error()),
             folder);
    tls_close(tls);
    return NULL;
}

void tls_close(struct tls *tls)
{
    if (tls != NULL) {
        SSL_CTX_free(tls->context);
        BIO_meth_free(tls->method);
        free(tls);
    }
}

struct tls_link *tls_accept(struct tls *tls, int descriptor)
{
    struct tls_link *link = calloc(1, sizeof *link);
    SSL *ssl = SSL_new(tls->context);
    BIO *bio = BIO_new(tls->method);
    if (link == NULL || ssl == NULL || bio == NULL) {
        free(link);
        SSL_free(ssl);
        BIO_free(bio);
        return NULL;
    }
    *link = (struct tls_link){.ssl = ssl, .descriptor = descriptor};
    BIO_set_data(bio, link);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return link;
}

void tls_end(struct tls_link *link)
{
    SSL_free(link->ssl);
    free(link);
}

/* What a result means in the words of read() and write(). */
static ssize_t meaning(struct tls_link *link, int result)
{
    if (result > 0) {
        return result;
    }
    switch (SSL_get_error(link->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        errno = EPROTO;
        return -1;
    }
}

ssize_t tls_read(struct tls_link *link, char *bytes, size_t size)
{
    ERR_clear_error();
    return meaning(link, SSL_read(link->ssl, bytes, size > 1 << 30 ? 1 << 30 : (int)size));
}

ssize_t tls_write(struct tls_link *link, const char *bytes, size_t size)
{
    ERR_clear_error();
    return meaning(link, SSL_write(link->ssl, bytes, size > 1 << 30 ? 1 << 30 : (int)size));
}
