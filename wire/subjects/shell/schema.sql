create table jobs (id serial primary key, owner text, lease timestamptz, done bool not null default false);
create table mails (id serial, job int not null);
